-- `ended_at` once stood among the columns of the contract, which nothing may stand between: an order cannot be replaced.
do $$
begin
  if exists (select from pg_attribute ended
              where ended.attrelid = to_regclass('analytics.patch') and ended.attname = 'ended_at'
                and not exists (select from pg_attribute last
                                 where last.attrelid = ended.attrelid and last.attname = 'technical_changes'
                                   and last.attnum < ended.attnum)) then
    drop view analytics.patch;
  end if;
end $$;

create or replace view analytics.patch as
with article as materialized (
  select distinct on (pk) pk, title, published_at from game.article order by pk, valid_from desc
), format as materialized (
  select format.resource, format.changed_at, format.path, format.form from analytics.format_change format
), changed as (
  -- A row for each record that changed: what is technical of it is found once for each change.
  select instant.patch, change.resource, change.key, min(change.changed_at) as first_at, max(change.changed_at) as last_at, count(*) as changes,
         count(*) filter (where change.path <> '') as inside,
         bool_or(change.path = '' and change.old_value is null) as is_new, bool_or(change.path = '' and change.new_value is null) as is_gone,
         count(*) filter (where change.path <> ''
           and (analytics.is_technical(change.path, change.old_value, change.new_value)
                or exists (select from format
                            where format.resource = change.resource and format.changed_at = change.changed_at and format.path = change.path
                              and format.form = analytics.form_of(change.old_value, change.new_value)))) as technical
    from game.field_change change
    join analytics.change_instant instant on instant.changed_at = change.changed_at
   where change.resource in ('items', 'recipes', 'ability-trees', 'aspects', 'quests')
   group by instant.patch, change.resource, change.key
)
select changed.patch,
       min(changed.first_at) as started_at,
       count(*) filter (where changed.resource = 'items' and changed.is_new)::int as items_added,
       count(*) filter (where changed.resource = 'items' and changed.inside > changed.technical)::int as items_changed,
       count(*) filter (where changed.resource = 'items' and changed.is_gone)::int as items_removed,
       count(*) filter (where changed.resource = 'recipes' and changed.changes > changed.technical)::int as recipes_changed,
       count(*) filter (where changed.resource = 'ability-trees' and changed.changes > changed.technical)::int as abilities_changed,
       count(*) filter (where changed.resource = 'aspects' and changed.changes > changed.technical)::int as aspects_changed,
       count(*) filter (where changed.resource = 'quests')::int as quests_changed,
       (select article.title from article
         where article.published_at between min(changed.first_at) - interval '168 hours' and max(changed.last_at) + interval '168 hours'
         order by greatest(min(changed.first_at) - article.published_at, article.published_at - max(changed.last_at)),
                  article.pk limit 1) as nearest_article,
       case when sum(changed.technical) = sum(changed.changes) then 'format' else 'game' end as kind,
       sum(changed.technical)::int as technical_changes,
       max(changed.last_at) as ended_at,
       analytics.whole_response_before((array_agg(changed.resource order by changed.first_at))[1], min(changed.first_at)) as not_before
  from changed
 group by changed.patch;

comment on view analytics.patch is 'Updates of the game, as far as they show in items, recipes, abilities, aspects and quests: changes first seen less than six hours apart.';
comment on column analytics.patch.patch is 'Number of the patch, counting from 1 in order of time.';
comment on column analytics.patch.started_at is 'When its first change was seen.';
comment on column analytics.patch.items_added is 'Items that appeared.';
comment on column analytics.patch.items_changed is 'Items that changed, without technical changes.';
comment on column analytics.patch.items_removed is 'Items that disappeared.';
comment on column analytics.patch.recipes_changed is 'Recipes that changed, appeared or disappeared, without technical changes.';
comment on column analytics.patch.abilities_changed is 'Abilities, archetypes and connectors that changed, appeared or disappeared, without technical changes.';
comment on column analytics.patch.aspects_changed is 'Aspects that changed, appeared or disappeared, without technical changes.';
comment on column analytics.patch.quests_changed is '1: the number of quests changed; 0: it did not.';
comment on column analytics.patch.nearest_article is 'Title of the article that was published nearest to it, at most seven days away. NULL: there is none.';
comment on column analytics.patch.ended_at is 'When its last change was seen.';
comment on column analytics.patch.kind is 'game, or format where only the form of the responses changed, or what is technical.';
comment on column analytics.patch.technical_changes is 'Changed paths that say nothing of the game: of form, icons, coordinates, places in a tree or list, glyphs, order.';
comment on column analytics.patch.not_before is 'The last whole response that did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
