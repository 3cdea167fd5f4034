"""Screens of the app, one a file."""
