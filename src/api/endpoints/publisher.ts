import { type CallOptions, type ReadableResponse, readObject, readObjectOrList } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { type AllOptions, type EachOptions, keyIn, listing, type PageOptions } from '../listings.ts'
import {
  type Article,
  type ArticleSummary,
  type articleVocabulary,
  parseArticle,
  parseArticleSummary,
  readNews,
  readVideos,
} from '../schemas/articles.ts'
import type { Known } from '../schemas/form/field-meta.ts'

/** A kind of article. */
export type ArticleType = Known<(typeof articleVocabulary.type)[number]>

/** Articles of the website (API reference 3.6). */
export function articleEndpoints(transport: Transport) {
  const route = '/publisher/articles/list/{type}'
  const ofType = (type: ArticleType) =>
    listing<ArticleSummary>(transport, {
      route,
      segments: [type],
      keyField: null,
      keyOf: keyIn('pk'),
      parse: parseArticleSummary,
    })
  return {
    /** `GET /publisher/articles/list/{type}`: one page. The records' key is `pk`. */
    list: (type: ArticleType, options: Omit<PageOptions, 'fullResult'> = {}) => ofType(type).page(options),
    /** `GET /publisher/articles/list/{type}`: all pages, and whether it is all. */
    all: (type: ArticleType, options: AllOptions = {}) => ofType(type).all(options),
    /** `GET /publisher/articles/list/{type}`: page after page. @throws RetryableError when it changes between two */
    pages: (type: ArticleType, options: CallOptions = {}) => ofType(type).pages(options),
    /** `GET /publisher/articles/list/{type}`: article after article, each once. */
    each: (type: ArticleType, options: EachOptions = {}) => ofType(type).each(options),
    /** `GET /publisher/articles/fetch/{type}/{pk}`: one article in full. */
    fetch: (
      type: ArticleType,
      pk: number | string,
      call: CallOptions = {},
    ): Promise<ReadableResponse<Record<string, unknown>, Article>> => {
      const request = { route: '/publisher/articles/fetch/{type}/{pk}', segments: [type, String(pk)] }
      return readObject(transport, request, call, parseArticle)
    },
  }
}

/** What else the website shows. */
export function newsEndpoints(transport: Transport) {
  return {
    /** `GET /publisher/videos/list`: addresses of videos. */
    videos: (call: CallOptions = {}) =>
      readObjectOrList(transport, { route: '/publisher/videos/list' }, call, readVideos),
    /** `GET /latest-news`: the newest announcements of the forum. */
    latestNews: (call: CallOptions = {}) => readObjectOrList(transport, { route: '/latest-news' }, call, readNews),
  }
}
