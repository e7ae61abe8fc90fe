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
), change as (
  select change.resource, change.key, change.changed_at, change.path, change.old_value is null as is_new,
         change.new_value is null as is_gone,
         change.path <> ''
         and (analytics.is_technical(change.path, change.old_value, change.new_value)
              or exists (select from format
                          where format.resource = change.resource and format.changed_at = change.changed_at and format.path = change.path
                            and format.form = analytics.form_of(change.old_value, change.new_value))) as is_technical
    from game.field_change change
   where change.resource in ('items', 'recipes', 'ability-trees', 'aspects', 'quests')
)
select instant.patch,
       min(change.changed_at) as started_at,
       count(distinct change.key) filter (where change.resource = 'items' and change.path = '' and change.is_new)::int
         as items_added,
       count(distinct change.key) filter (where change.resource = 'items' and change.path <> '' and not change.is_technical)::int as items_changed,
       count(distinct change.key) filter (where change.resource = 'items' and change.path = '' and change.is_gone)::int
         as items_removed,
       count(distinct change.key) filter (where change.resource = 'recipes' and not change.is_technical)::int as recipes_changed,
       count(distinct change.key) filter (where change.resource = 'ability-trees' and not change.is_technical)::int as abilities_changed,
       count(distinct change.key) filter (where change.resource = 'aspects' and not change.is_technical)::int as aspects_changed,
       count(distinct change.key) filter (where change.resource = 'quests')::int as quests_changed,
       (select article.title from article
         where article.published_at between min(change.changed_at) - interval '168 hours' and max(change.changed_at) + interval '168 hours'
         order by greatest(min(change.changed_at) - article.published_at, article.published_at - max(change.changed_at)),
                  article.pk limit 1) as nearest_article,
       case when bool_and(change.is_technical) then 'format' else 'game' end as kind,
       count(*) filter (where change.is_technical)::int as technical_changes,
       max(change.changed_at) as ended_at,
       analytics.whole_response_before((array_agg(change.resource order by change.changed_at))[1], min(change.changed_at)) as not_before
  from change
  join analytics.change_instant instant on instant.changed_at = change.changed_at
 group by instant.patch;

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
