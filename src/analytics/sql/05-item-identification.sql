create or replace view analytics.item_identification as
select item.internal_name, item.display_name, part.identification, part.raw, part.min, part.max, part.is_fixed,
       item.type, item.sub_type, item.tier, item.level,
       (select max(observed_at) from sync.run
         where resource = 'items' and status in ('ok', 'unchanged', 'partial')) as observed_at
  from game.item_identification part
  join game.item on item.internal_name = part.internal_name and item.valid_from = part.valid_from
 where item.valid_until = 'infinity';

comment on view analytics.item_identification is 'Every identification of every item as of the latest response.';
comment on column analytics.item_identification.internal_name is 'The item.';
comment on column analytics.item_identification.display_name is 'What players call it; not unique.';
comment on column analytics.item_identification.identification is 'Name of the bonus in the API, such as rawStrength.';
comment on column analytics.item_identification.raw is 'The value before it is rolled; the value itself when it is fixed.';
comment on column analytics.item_identification.min is 'The bound the API calls min; may lie above max, as for spell costs.';
comment on column analytics.item_identification.max is 'The bound the API calls max.';
comment on column analytics.item_identification.is_fixed is 'True when it is not rolled: raw, min and max are equal.';
comment on column analytics.item_identification.type is 'Type of the item.';
comment on column analytics.item_identification.sub_type is 'Kind within the type.';
comment on column analytics.item_identification.tier is 'Rarity of the item.';
comment on column analytics.item_identification.level is 'Level needed to use the item.';
comment on column analytics.item_identification.observed_at is 'When the API last confirmed it.';
