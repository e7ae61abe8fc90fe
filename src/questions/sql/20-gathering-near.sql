create or replace function analytics.gathering_near(material text, near_x int, near_z int, n int default 10)
returns table (node text, level int, x double precision, y double precision, z double precision, distance double precision)
language sql stable parallel safe
begin atomic
  select place.resource, case when 'level' = any (lacking.columns) then null else place.level end, place.x, place.y, place.z,
         sqrt((place.x - near_x) ^ 2 + (place.z - near_z) ^ 2)
    from game.gathering_node place
   cross join analytics.not_sent('gathering_node') lacking
   where place.resource = upper(gathering_near.material collate "C") and place.valid_until = 'infinity'
   order by 6, place.x, place.z, place.y
   limit greatest(0, least(gathering_near.n, 1000));
end;
comment on function analytics.gathering_near(text, int, int, int) is
'Where something is gathered, the nearest first, as of the latest response. Arguments: material, such as oak; near_x and near_z, a place on the map, in blocks east and south of its centre; n, how many (10 when left out, 1000 at most).';
