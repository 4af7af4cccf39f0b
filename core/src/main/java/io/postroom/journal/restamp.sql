-- Make the journal whole in a cluster that did not stamp it.
select restamped, last_position
from /*schema*/restamp()
