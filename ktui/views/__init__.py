"""What each view shows, as plain rows and as JSON, for screens and commands alike. Pure functions of the state and a
time; texts are raw, made safe at the border to a terminal."""
