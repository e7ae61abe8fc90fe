import { text } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 3.6. */
export const video = historyTable(
  'video',
  'Versions of the videos that the website lists: from when to when it listed each.',
  { address: text('Natural key: address of the video.') },
  {},
)

export const videoHistory = { root: video, parts: {} }
