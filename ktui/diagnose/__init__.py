"""Why a gang waits. Pure functions: state in, a Diagnosis out. Words and causes belong here, drawing does not."""
