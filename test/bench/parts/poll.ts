import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finished, runNode } from '../child.ts'
import { median } from '../measure.ts'
import type { Part } from '../part.ts'
import { serveResponses } from '../peers/responses.ts'
import type { Outcome, Target } from '../target.ts'

const ROUNDS = 9

/** The least that a process can do with the server: nothing, over one connection. */
const CONNECTION = `
import postgres from 'postgres'
const sql = postgres(process.env.DATABASE_URL, { max: 1 })
await sql\`select 1\`
await sql.end()
`

const reference = 'node and a connection'

const targets: readonly (Target & { readonly of: 'cpuMs' | 'peakMb' })[] = [
  { of: 'cpuMs', name: '3 unchanged poll, CPU', unit: 'ms', bound: { of: 'measured', atMost: 450 } },
  { of: 'peakMb', name: '3 unchanged poll, memory', unit: 'MB', bound: { of: 'measured', atMost: 100 } },
  { of: 'cpuMs', name: '3 unchanged poll, ratio', unit: 'ms', reference, bound: { of: 'ratio', atMost: 2.5 } },
]

/** `sync territories` as a process when nothing has changed, in turn with its reference. */
export const poll: Part = async ({ program, folder, createDatabase, say }) => {
  const responses = await serveResponses(1)
  try {
    const script = join(folder, 'connection.mjs')
    await writeFile(script, CONNECTION)
    // The home is where compiled code is kept.
    const variables = {
      DATABASE_URL: await createDatabase('poll'),
      WYNNSYNC_BASE_URL: responses.baseUrl,
      HOME: folder,
    }
    const works = {
      [reference]: [script],
      'wynnsync --version': [program, '--version'],
      'sync territories': [program, 'sync', 'territories', '--log-level', 'warn'],
    }
    const runs: Record<string, Finished[]> = {}
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [work, args] of Object.entries(works)) {
        const finished = await runNode(args, variables)
        // The first one finds everything new.
        if (round > 0) runs[work] = [...(runs[work] ?? []), finished]
      }
    }
    const middle = (work: string, of: 'wallMs' | 'cpuMs' | 'peakMb') => median((runs[work] ?? []).map((run) => run[of]))
    const rows = Object.keys(works).map((process) => ({
      process,
      'wall ms': Math.round(middle(process, 'wallMs')),
      'cpu ms': Math.round(middle(process, 'cpuMs')),
      'peak MB': Math.round(middle(process, 'peakMb')),
    }))
    say(`A territory poll that changes nothing, as a process, in turn with its reference, median of ${ROUNDS}`, rows)
    return targets.map(({ of, ...target }): Outcome => {
      const measured = middle('sync territories', of)
      return { target, measured, ...(target.reference ? { reference: middle(reference, of) } : {}) }
    })
  } finally {
    await responses.close()
  }
}
