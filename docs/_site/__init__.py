"""What the site has beyond its pages: generated pages, and formulas as MathML."""
