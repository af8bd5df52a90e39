"""An independent reader of the trunk format, written from pack/FORMAT.md.

It shares nothing with the C library, so that an error on one side shows as a difference
between the two. Needs numpy and zstandard.
"""
