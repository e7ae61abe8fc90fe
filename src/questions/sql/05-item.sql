create or replace view analytics.item as
select internal_name, display_name,
       case when 'type' = any (lacking.columns) then null else type end as type,
       case when 'sub_type' = any (lacking.columns) then null else sub_type end as sub_type,
       case when 'tier' = any (lacking.columns) then null else tier end as tier,
       case when 'level' = any (lacking.columns) then null else level end as level,
       case when 'class_requirement' = any (lacking.columns) then null else class_requirement end as class_requirement,
       case when 'attack_speed' = any (lacking.columns) then null else attack_speed end as attack_speed,
       case when 'average_dps' = any (lacking.columns) then null else average_dps end as average_dps,
       case when 'powder_slots' = any (lacking.columns) then null else powder_slots end as powder_slots,
       case when 'strength' = any (lacking.columns) then null else strength end as strength,
       case when 'dexterity' = any (lacking.columns) then null else dexterity end as dexterity,
       case when 'intelligence' = any (lacking.columns) then null else intelligence end as intelligence,
       case when 'defence' = any (lacking.columns) then null else defence end as defence,
       case when 'agility' = any (lacking.columns) then null else agility end as agility,
       case when 'quest' = any (lacking.columns) then null else quest end as quest,
       case when 'gathering_speed' = any (lacking.columns) then null else gathering_speed end as gathering_speed,
       case when 'durability' = any (lacking.columns) then null else durability end as durability,
       case when 'restriction' = any (lacking.columns) then null else restriction end as restriction,
       case when 'drop_restriction' = any (lacking.columns) then null else drop_restriction end as drop_restriction,
       case when 'identified' = any (lacking.columns) then null else identified end as identified,
       case when 'allow_craftsman' = any (lacking.columns) then null else allow_craftsman end as allow_craftsman,
       case when 'drop_name' = any (lacking.columns) then null else drop_name end as drop_name,
       case when 'lore' = any (lacking.columns) then null else lore end as lore,
       valid_from as since,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'items' and status in ('ok', 'unchanged', 'partial'))
            else greatest(valid_from, (select max(observed_at) from sync.run
         where resource = 'items' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.item
 cross join analytics.not_sent('item') lacking
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'items' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'items' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = item.internal_name
 where valid_until = 'infinity';

comment on view analytics.item is 'Every item of the game as of the latest response, one row each.';
comment on column analytics.item.internal_name is 'The natural key; unique and stable.';
comment on column analytics.item.display_name is 'What players see; not unique.';
comment on column analytics.item.type is 'weapon, armour, accessory, tome, charm, tool, ingredient or material.';
comment on column analytics.item.sub_type is 'Kind within the type, such as bow or helmet; NULL for charms and ingredients.';
comment on column analytics.item.tier is 'Rarity (normal .. mythic), or TIER_0 .. TIER_3 of ingredients; NULL for materials.';
comment on column analytics.item.level is 'Combat level, or profession level, needed to use it.';
comment on column analytics.item.class_requirement is 'Class that alone can use it.';
comment on column analytics.item.attack_speed is 'superSlow .. superFast; weapons only.';
comment on column analytics.item.average_dps is 'Average damage per second; weapons only.';
comment on column analytics.item.powder_slots is 'Number of powder slots; NULL when the API names none.';
comment on column analytics.item.strength is 'Strength needed.';
comment on column analytics.item.dexterity is 'Dexterity needed.';
comment on column analytics.item.intelligence is 'Intelligence needed.';
comment on column analytics.item.defence is 'Defence needed.';
comment on column analytics.item.agility is 'Agility needed.';
comment on column analytics.item.quest is 'Quest that must be done first.';
comment on column analytics.item.gathering_speed is 'Gathering speed; tools only.';
comment on column analytics.item.durability is 'Durability; tools only.';
comment on column analytics.item.restriction is 'none, untradable or quest item.';
comment on column analytics.item.drop_restriction is 'normal, never, lootchest or dungeon.';
comment on column analytics.item.identified is 'True when it is found identified; NULL when the API does not give it.';
comment on column analytics.item.allow_craftsman is 'True when craftsman characters may use it; NULL when the API does not give it.';
comment on column analytics.item.drop_name is 'Place or person that gives it.';
comment on column analytics.item.lore is 'Text with HTML spans and private-use glyphs, as the API sends it.';
comment on column analytics.item.since is 'When this version was first seen.';
comment on column analytics.item.observed_at is 'When the API last confirmed it.';
