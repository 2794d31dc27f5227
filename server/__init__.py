"""The race server: rules, races, rooms, store and gateway."""
