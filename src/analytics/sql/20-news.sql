create or replace view analytics.news as
select published_at, type as kind, title, null::text as author, null::text as link,
       case when previous_until is not null then valid_from end as edited_at,
       nullif(valid_until, 'infinity') as removed_at, pk::text as key
  from (select distinct on (pk) * from game.article order by pk, valid_from desc) article
 union all
select published_at, 'news', title, author, forum_thread,
       case when previous_until is not null then valid_from end, null, forum_thread
  from (select distinct on (forum_thread) * from game.news order by forum_thread, valid_from desc) news
 union all
select null, 'video', null, null, address, null, nullif(valid_until, 'infinity'), address
  from (select distinct on (address) * from game.video order by address, valid_from desc) video;

comment on view analytics.news is 'What the website published: articles, the latest news of the forum, videos. One row each, as it is now or as it was last.';
comment on column analytics.news.published_at is 'When it was published, by the API. NULL: the API does not send that.';
comment on column analytics.news.kind is 'blog, event, giveaway, article or poll; news; video.';
comment on column analytics.news.title is 'Title. NULL: videos have none.';
comment on column analytics.news.author is 'Who wrote it. NULL: the API sends that of news only.';
comment on column analytics.news.link is 'Its address. NULL: the API sends none of articles.';
comment on column analytics.news.edited_at is 'observed_at of the first response with its last edit. NULL: it was not edited.';
comment on column analytics.news.removed_at is 'observed_at of the first response without it. NULL: it is still listed, or it is news, of which the API lists only the newest.';
comment on column analytics.news.key is 'Natural key: number of an article, address of others.';
