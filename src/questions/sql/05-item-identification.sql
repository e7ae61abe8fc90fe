create or replace view analytics.item_identification as
select item.internal_name, item.display_name, part.identification, case when 'raw' = any (part_lacking.columns) then null else part.raw end as raw,
       case when 'min' = any (part_lacking.columns) then null else part.min end as min,
       case when 'max' = any (part_lacking.columns) then null else part.max end as max,
       case when 'is_fixed' = any (part_lacking.columns) then null else part.is_fixed end as is_fixed,
       case when 'type' = any (lacking.columns) then null else item.type end as type,
       case when 'sub_type' = any (lacking.columns) then null else item.sub_type end as sub_type,
       case when 'tier' = any (lacking.columns) then null else item.tier end as tier,
       case when 'level' = any (lacking.columns) then null else item.level end as level,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'items' and status in ('ok', 'unchanged', 'partial'))
            else greatest(item.valid_from, (select max(observed_at) from sync.run
         where resource = 'items' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.item
 cross join analytics.not_sent('item') lacking
 cross join analytics.not_sent('item_identification') part_lacking
  left join game.item_identification part
    on part.internal_name = item.internal_name and part.valid_from = item.valid_from and '*' <> all (part_lacking.columns)
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'items' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'items' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = item.internal_name
 where item.valid_until = 'infinity' and (part.identification is not null or '*' = any (part_lacking.columns));

comment on view analytics.item_identification is 'Every identification of every item as of the latest response. While the API does not send them, an item has one row with NULL.';
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
