import * as z from 'zod'
import type { Body } from './form/bodies.ts'
import { flag, known, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'

/** The kinds of article the service has so far; others are still accepted. */
export const articleVocabulary = { type: ['blog', 'event', 'giveaway', 'article', 'poll'] } as const

const type = known(articleVocabulary.type).nullish()

/** An article as it stands in a list: `pk` is its key there and in `articles.fetch`. */
export const articleSummarySchema = z.looseObject({
  pk: z.number(),
  title: text,
  type,
  banner: text,
  banner_zoom: flag,
  recap: text,
  visible: flag,
  start_date: text,
  end_date: text,
  pinned: flag,
  has_content: flag,
  published_at: text,
})

const requirement = z.looseObject({ type: text, subType: text, value: z.union([z.number(), z.string()]).nullish() })

/** An article. What the list calls `pk` is `id` here. */
export const articleSchema = z.looseObject({
  id: z.number(),
  type,
  created_by: text,
  discord_messages: z.record(z.string(), z.string().nullish()).nullish(),
  discord_recap: flag,
  allow_discord: flag,
  destination: text,
  published: flag,
  pinned: flag,
  visible: flag,
  content: z
    .array(
      z.looseObject({
        id: text,
        type: text,
        focus: flag,
        /** A text, the path of an image, or the question of a poll. */
        content: z
          .union([
            z.string(),
            z.looseObject({
              question: text,
              answers: z.record(z.string(), z.string()).nullish(),
              override: flag,
              requirements: z.array(requirement).nullish(),
            }),
          ])
          .nullish(),
        discord: flag,
        website: flag,
      }),
    )
    .nullish(),
  start_date: text,
  end_date: text,
  recap: text,
  title: text,
  banner: text,
  banner_zoom: flag,
  likes: number,
  published_at: text,
  require_discord: flag,
  require_clan: flag,
  poll_settings: z.array(requirement).nullish(),
  poll_public: flag,
  /** `total`, and votes by question and answer. */
  votes: z.record(z.string(), z.union([z.number(), z.record(z.string(), z.number())])).nullish(),
})

/** One piece of news. */
export const newsSchema = z.looseObject({
  title: text,
  date: text,
  forumThread: text,
  author: text,
  /** HTML */
  content: text,
  /** A number, written as text. */
  comments: z.union([z.string(), z.number()]).nullish(),
})

export type ArticleSummary = z.output<typeof articleSummarySchema>
export type Article = z.output<typeof articleSchema>
export type NewsEntry = z.output<typeof newsSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no article of a list */
export const parseArticleSummary: (record: unknown) => ArticleSummary = recordParser(
  'article summary',
  articleSummarySchema,
)

/** @throws RecordError with the JSON pointer of the first thing that is no article */
export const parseArticle: (body: unknown) => Article = recordParser('article', articleSchema)

/** @throws RecordError with the JSON pointer of the first thing that is no news */
export const parseNewsEntry: (record: unknown) => NewsEntry = recordParser('news', newsSchema)

const parseNews = recordParser('news', z.array(newsSchema))
const parseVideos = recordParser('videos', z.array(z.string()))

/** @throws RecordError with the JSON pointer of the first thing that is no news */
export function readNews(body: Body): NewsEntry[] {
  return parseNews(Object.values(body))
}

/** The addresses of the videos, which come by position. @throws RecordError when one is no text */
export function readVideos(body: Body): string[] {
  return parseVideos(Object.values(body))
}
