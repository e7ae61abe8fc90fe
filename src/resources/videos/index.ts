import * as z from 'zod'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import { joinLists, knownBy, oneRequest, recordError } from '../record.ts'
import { videoHistory } from './tables.ts'

/** Addresses of videos: `GET /publisher/videos/list` (API reference 3.6). Their positions change with each new one, and are not kept. */
export const videos = defineResource({
  name: 'videos',
  schedule: '24 * * * *',
  cacheSeconds: 120,
  route: '/publisher/videos/list',
  // A list of six, of which a few change at once.
  plausibleShare: 0.2,
  rawCost: 'less than a kB a response',
  file: { isRecord: (record) => /^https?:\/\/\S*(youtu|video)/.test(String(record)), join: joinLists(null) },
  history: videoHistory,
  extract: oneRequest({ ask: (api, call) => api.videos(call), records: (body) => Object.values(body) }),
  keyOf: (record) => (typeof record === 'string' ? record : undefined),
  normalize: normalizeVideo,
  ...knownBy(z.unknown()),
})

/** @throws RecordError when it is no address */
function normalizeVideo(record: unknown): Normalized<typeof videoHistory> {
  if (typeof record !== 'string' || !/^https?:/i.test(record)) throw recordError('', 'a video without an address')
  return { key: record, document: { address: record }, root: { address: record }, parts: {} }
}
