"""What the pages of the commands share: the frame, the style sheet, charts, and a template engine that escapes.

Knows how a page looks. Must not know what it is about. Needs Jinja2, the extra ``report``.
"""
