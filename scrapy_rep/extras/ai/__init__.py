"""What sites say about the use of their pages by AI. Private."""
