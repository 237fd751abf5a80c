"""MNBVC's formats, with the types that its checker wants: all ids are texts."""
