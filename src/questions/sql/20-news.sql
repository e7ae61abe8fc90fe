create or replace view analytics.news as
with article as (
  select distinct on (pk) *, max(valid_from) filter (where shown <> before) over (partition by pk) as edited_at
    from (select *, document - array['pinned', 'visible'] as shown,
                 lag(document - array['pinned', 'visible']) over (partition by pk order by valid_from) as before
            from game.article) version
   order by pk, valid_from desc
), news as (
  select distinct on (forum_thread) *, max(valid_from) filter (where document <> before) over (partition by forum_thread) as edited_at
    from (select *, lag(document) over (partition by forum_thread order by valid_from) as before from game.news) version
   order by forum_thread, valid_from desc
)
select case when valid_until < 'infinity' or 'published_at' <> all (lacking.columns) then published_at end as published_at,
       type as kind, case when valid_until < 'infinity' or 'title' <> all (lacking.columns) then title end as title, null::text as author,
       null::text as link, edited_at, nullif(valid_until, 'infinity') as removed_at, pk::text as key
  from article
 cross join analytics.not_sent('article') lacking
 union all
select case when 'published_at' <> all (lacking.columns) then published_at end, 'news',
       case when 'title' <> all (lacking.columns) then title end, case when 'author' <> all (lacking.columns) then author end, forum_thread, edited_at,
       null, forum_thread
  from news
 cross join analytics.not_sent('news') lacking
 union all
select null, 'video', null, null, address, null, nullif(valid_until, 'infinity'), address
  from (select distinct on (address) * from game.video order by address, valid_from desc) video;

comment on view analytics.news is 'What the website published: articles, the latest news of the forum, videos. One row each, as it is now or as it was last.';
comment on column analytics.news.published_at is 'When it was published, by the API. NULL: the API does not send that.';
comment on column analytics.news.kind is 'blog, event, giveaway, article or poll; news; video.';
comment on column analytics.news.title is 'Title. NULL: videos have none, or the API does not send it.';
comment on column analytics.news.author is 'Who wrote it. NULL: the API sends that of news only.';
comment on column analytics.news.link is 'Its address. NULL: the API sends none of articles.';
comment on column analytics.news.edited_at is 'observed_at of the first response with its last edit; that an article is pinned or shown is none. NULL: it was not edited.';
comment on column analytics.news.removed_at is 'observed_at of the first response without it. NULL: it is still listed, or it is news, of which the API lists only the newest.';
comment on column analytics.news.key is 'Natural key: number of an article, address of others.';
