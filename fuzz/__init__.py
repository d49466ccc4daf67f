"""Fuzzing: what reads octets from outside gets octets that nobody would write, and must keep its promises.

`targets` has the promises, and knows no fuzzer. `seeds` has the inputs to begin with, and the words that a fuzzer
may put in. ``python -m fuzz`` runs the targets, guided by coverage where atheris is installed, else at
random. The page "Fuzzing" of the documentation says more.
"""
