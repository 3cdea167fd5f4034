"""What ktui relies on of the API server, asserted on the embedded server and on the real one alike, by a client of its own."""
