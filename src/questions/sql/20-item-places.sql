create or replace view analytics.item_drop_place as
select item.internal_name, case when 'name' <> all (lacking.columns) then drops.name end as place,
       case drops.source when 'dropMeta' then 'place' when 'droppedBy' then 'creature' else drops.source end as kind,
       -- 99999 stands for no place.
       case when 'x' <> all (lacking.columns) then nullif(drops.x, 99999) end as x,
       case when 'y' <> all (lacking.columns) then nullif(drops.y, 99999) end as y,
       case when 'z' <> all (lacking.columns) then nullif(drops.z, 99999) end as z,
       case when 'radius' <> all (lacking.columns) then drops.radius end as radius, item.display_name
  from game.item
 cross join analytics.not_sent('item_drop_place') lacking
 -- Of two fields that say where items are found, the other one is known.
 cross join (select coalesce(array_agg(substr(field, 2)), '{}') as sources from sync.unsent
              where resource = 'items' and field in ('/dropMeta', '/droppedBy') and until_at is null) unknown
  left join game.item_drop_place drops
    on drops.internal_name = item.internal_name and drops.valid_from = item.valid_from and drops.source <> all (unknown.sources)
 where item.valid_until = 'infinity' and (drops.internal_name is not null or cardinality(unknown.sources) > 0);
comment on view analytics.item_drop_place is 'Where items are found, as of the latest response: places and persons, and creatures that drop ingredients, one row for each spot. While the API does not send places or creatures, an item without the others has one row with NULL.';
comment on column analytics.item_drop_place.internal_name is 'The item.';
comment on column analytics.item_drop_place.place is 'Name of the place, person or creature. NULL: the API did not send it.';
comment on column analytics.item_drop_place.kind is 'place (a place or person that gives it) or creature (drops it).';
comment on column analytics.item_drop_place.x is 'East of the centre of the map, in blocks. NULL: nowhere in particular.';
comment on column analytics.item_drop_place.y is 'Height, in blocks. NULL: nowhere in particular.';
comment on column analytics.item_drop_place.z is 'South of the centre of the map, in blocks. NULL: nowhere in particular.';
comment on column analytics.item_drop_place.radius is 'How far around it is found, in blocks. NULL: the API did not send it.';
comment on column analytics.item_drop_place.display_name is 'What players call the item.';

create or replace view analytics.item_set as
with bonus as (
  select each.name, jsonb_object_agg(each.pieces, each.given order by each.pieces) as bonuses
    from (select root.name, bonus.pieces, jsonb_object_agg(bonus.identification, bonus.value) as given
            from game.item_set root
            join game.item_set_bonus bonus using (name, valid_from)
           where root.valid_until = 'infinity'
             and not exists (select from analytics.not_sent('item_set_bonus') lacking where cardinality(lacking.columns) > 0)
           group by root.name, bonus.pieces) each
   group by each.name
), member as (
  -- Sets name their parts as players see them, items the sets they belong to; either may be missing.
  select root.name, item.internal_name, part.display_name
    from game.item_set root
   cross join analytics.not_sent('item_set_part') lacking
    left join game.item_set_part part
      on part.name = root.name and part.valid_from = root.valid_from and cardinality(lacking.columns) = 0
    left join game.item on item.display_name = part.display_name and item.valid_until = 'infinity'
   where root.valid_until = 'infinity' and (part.name is not null or cardinality(lacking.columns) > 0)
   union
  select own.set_name, item.internal_name, item.display_name
    from game.item
    join game.item_in_set own using (internal_name, valid_from)
   where item.valid_until = 'infinity'
     and not exists (select from analytics.not_sent('item_in_set') lacking where cardinality(lacking.columns) > 0)
)
select member.name as set, member.internal_name, bonus.bonuses, member.display_name
  from member
  left join bonus on bonus.name = member.name;
comment on view analytics.item_set is 'The items of each set, as of the latest response, with what wearing several of them adds.';
comment on column analytics.item_set.set is 'Name of the set.';
comment on column analytics.item_set.internal_name is 'The item. NULL: no item has that name now.';
comment on column analytics.item_set.bonuses is 'What so many worn parts add, by identification: {"2": {"rawStrength": 4}}. NULL: the API sends none.';
comment on column analytics.item_set.display_name is 'What players call the item.';
