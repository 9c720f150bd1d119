"""What once was wrong, a table per way in which it was found, each with the tests that hold it."""
