import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { App } from '../../../app/app.ts'
import { codeOf, messageOf } from '../../../app/errors.ts'
import { loadDuckDb } from '../../../lake/duckdb.ts'
import { lakeState } from '../../../lake/index-file.ts'
import { storeSettings } from '../../../lake/lake-store.ts'
import { periodSeconds } from '../../../sync/schedule/ticker.ts'
import { durationText } from '../../output/units.ts'
import type { Finding } from './doctor-checks.ts'

const check = 'lake'

/** Whether the lake that `start` keeps can be written, and is up to date; nothing where none is configured. */
export async function checkLake(app: App): Promise<Finding[]> {
  const { config, clock } = app
  const { lake: place, lakeSchedule } = config
  if (place === undefined) return []
  try {
    await loadDuckDb()
    if (!place.startsWith('s3://')) await access(await nearestFolder(place), constants.W_OK)
    const state = await lakeState(place, storeSettings(app), AbortSignal.timeout(10_000))
    if (!state) return [{ check, verdict: 'fine', seen: `nothing was exported into ${place} yet` }]
    const age = (clock.now() - Date.parse(state.at)) / 1000
    // One export may take long.
    const isLate = age > 2.5 * periodSeconds(lakeSchedule, clock.now())
    const seen = `${place} was exported ${durationText(age)} ago`
    if (!isLate) return [{ check, verdict: 'fine', seen }]
    const todo = 'is `wynnsync start` running? its log says why an export fails; try one: wynnsync lake export PLACE'
    return [{ check, verdict: 'warning', seen, todo }]
  } catch (error) {
    const todo = 'correct WYNNSYNC_LAKE, or do what is said; syncs go on without a lake'
    return [{ check, verdict: 'problem', seen: `${place}: ${messageOf(error)}`, todo }]
  }
}

/** The folder, or the nearest one above it that exists: the others are created. */
async function nearestFolder(place: string): Promise<string> {
  const isThere = await access(place).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  )
  return isThere || dirname(place) === place ? place : nearestFolder(dirname(place))
}
