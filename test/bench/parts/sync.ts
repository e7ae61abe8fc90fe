import type { Part } from '../part.ts'
import { measureSync } from '../sync.ts'
import type { Outcome } from '../target.ts'

const ROUNDS = 5

/** Of these measured works: the most processor time in ms, or memory in MB. */
const targets = [
  { database: 'server', what: 'second sync items', of: 'cpu ms', atMost: 800, name: '2 unchanged response, CPU' },
  { database: 'server', what: 'second sync items', of: 'peak MB', atMost: 110, name: '2 unchanged response, memory' },
  { database: 'server', what: 'first sync items', of: 'peak MB', atMost: 160, name: '4 sync items, server' },
  { database: 'embedded', what: 'first sync items', of: 'peak MB', atMost: 200, name: '4 sync items, embedded' },
] as const

export const sync: Part = async (bench) => {
  const rows = await measureSync({ ...bench, rounds: ROUNDS })
  bench.say(`sync items as a process, sandbox beside it, median of ${ROUNDS}`, rows)
  return targets.map(({ name, database, what, of, atMost }): Outcome => {
    const row = rows.find((one) => one.database === database && one.what === what)
    const unit = of.split(' ').at(-1) ?? ''
    return { target: { name, unit, bound: { of: 'measured', atMost } }, measured: row?.[of] ?? Number.NaN }
  })
}
