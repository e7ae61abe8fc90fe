import type { Part } from '../part.ts'
import { demo } from './demo.ts'
import { disk } from './disk.ts'
import { firstStart } from './first-start.ts'
import { loader } from './loader.ts'
import { peers } from './peers.ts'
import { poll } from './poll.ts'
import { prepare } from './prepare.ts'
import { sync } from './sync.ts'
import { year } from './year.ts'

/** What the bench is made of; `npm run bench -- loader` runs that part alone. */
export const parts: Readonly<Record<string, Part>> = {
  prepare,
  loader,
  sync,
  poll,
  'first-start': firstStart,
  demo,
  disk,
  year,
  peers,
}

/** Those that run only when they are named: they install other programs. */
export const named: readonly string[] = ['peers']
