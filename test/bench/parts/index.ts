import type { Part } from '../part.ts'
import { web } from '../year/web.ts'
import { demo } from './demo.ts'
import { disk } from './disk.ts'
import { firstStart } from './first-start.ts'
import { git } from './git.ts'
import { lake } from './lake.ts'
import { loader } from './loader.ts'
import { memory } from './memory.ts'
import { peers } from './peers.ts'
import { poll } from './poll.ts'
import { prepare } from './prepare.ts'
import { sync } from './sync.ts'
import { tests } from './tests.ts'
import { year } from './year.ts'

/** What the bench is made of; `npm run bench -- loader` runs that part alone. */
export const parts: Readonly<Record<string, Part>> = {
  prepare,
  loader,
  sync,
  memory,
  poll,
  'first-start': firstStart,
  demo,
  disk,
  year,
  web,
  lake,
  git,
  tests,
  peers,
}

/** Those that run only when they are named: one installs other programs, one takes as long as the tests do, three make a history. */
export const named: readonly string[] = ['tests', 'peers', 'web', 'lake', 'git']
