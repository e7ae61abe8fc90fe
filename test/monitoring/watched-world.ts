import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { parseWatches } from '../../src/monitoring/watches/watch.ts'
import { saveWatch } from '../../src/monitoring/watches/watch-store.ts'
import { openWatching } from '../../src/monitoring/watches/watching.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const notifies = { notifies: true }

/** A database with a territory that changes hands, and what watches it. */
export function watchedWorld(kind: Database['kind']) {
  const world = worldOf(kind)
  let behind = 0

  /** Sets the clock of what watches back, ms. */
  function setBack(ms: number) {
    behind = ms
    onTestFinished(() => {
      behind = 0
    })
  }

  /** Watches that have begun, and what they warn of. */
  async function watched(watches: readonly object[], more: object = {}) {
    await world.db.query('delete from sync.watch')
    const given = parseWatches('the test', { watches, ...more })
    for (const watch of given.watches) await saveWatch(world.db, watch, given.site)
    return await open()
  }

  /** A process that delivers the watches of the database, or would if no other did. */
  async function open() {
    const file = join(await temporaryFolder(), 'watches.json')
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    // Receivers take real time, of which the world's clock knows nothing.
    const clock = { ...systemClock, now: () => world.clock.now() - behind }
    const watching = openWatching({ db: world.db, file, clock, warn })
    onTestFinished(() => watching.close(1000))
    await watching.begin()
    return { watching, warnings }
  }

  const oak = (letter: string, acquired: string, at: string) =>
    world.sync(territories, { Oak: place(letter, acquired), Elm: place('b', '09:00') }, at, notifies)

  return { world, watched, open, oak, setBack }
}
