"""The interfaces of other libraries, so that a program only changes its imports."""
