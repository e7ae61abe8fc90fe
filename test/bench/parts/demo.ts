import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { ended, startNode } from '../child.ts'
import type { Part } from '../part.ts'
import type { Outcome } from '../target.ts'

/** `demo` into a pipe, after a build: what somebody sees of it, and when. */
export const demo: Part = async ({ program, folder, say }) => {
  const place = await mkdtemp(join(folder, 'demo-'))
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  let shownAt = 0
  let said = ''
  let silent = 0
  let firstTable = Number.NaN
  const child = startNode([program, 'demo'], { TMPDIR: place }, place)
  child.stdout.on('data', (text: Buffer) => {
    silent = Math.max(silent, seconds() - shownAt)
    shownAt = seconds()
    said += text.toString()
    if (Number.isNaN(firstTable) && /\n\n {3}(?!node )\S/.test(said)) firstTable = shownAt
  })
  child.stderr.resume()
  const code = await ended(child)
  if (code !== 0) throw new Error(`the demo ended with ${code}`)
  const figures = { 'whole s': seconds(), 'first table s': firstTable, 'longest silence s': silent }
  say('The demo, into a pipe', [Object.fromEntries(Object.entries(figures).map(([name, s]) => [name, s.toFixed(1)]))])
  const outcome = (name: string, measured: number, atMost: number): Outcome => ({
    target: { name: `6 demo, ${name}`, unit: 's', bound: { of: 'measured', atMost } },
    measured,
  })
  return [
    outcome('whole', figures['whole s'], 30),
    outcome('first table', firstTable, 8),
    outcome('longest silence', silent, 2),
  ]
}
