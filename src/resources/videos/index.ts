import * as z from 'zod'
import { RecordError } from '../../app/errors.ts'
import { defineResource, type Normalized } from '../../sync/resource.ts'
import { knownBy, oneAnswer } from '../record.ts'
import { videoHistory } from './tables.ts'

/** Addresses of videos: `GET /publisher/videos/list` (API reference 3.6). Their positions change with each new one, and are not kept. */
export const videos = defineResource({
  name: 'videos',
  schedule: '24 * * * *',
  lane: 'refresh',
  cacheSeconds: 120,
  route: '/publisher/videos/list',
  // A list of six, of which a few change at once.
  plausibleShare: 0.2,
  rawCost: 'less than a kB a response',
  changeLog: false,
  history: videoHistory,
  extract: async (api, { signal, lane }) => {
    const answer = await api.videos({ signal, lane })
    return { records: Object.values(answer.body), ...oneAnswer(answer) }
  },
  keyOf: (record) => (typeof record === 'string' ? record : undefined),
  normalize: normalizeVideo,
  ...knownBy(z.unknown()),
})

/** @throws RecordError when it is no text */
export function normalizeVideo(record: unknown): Normalized<typeof videoHistory> {
  if (typeof record !== 'string') throw new RecordError('the address of a video is no text', { context: { path: '' } })
  return { key: record, document: { address: record }, root: { address: record }, parts: {} }
}
