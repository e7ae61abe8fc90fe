import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { ended } from '../child.ts'
import type { Part } from '../part.ts'

/** `npm test` of this checkout, from lint to the last test. */
export const tests: Part = async ({ program, say }) => {
  const started = performance.now()
  const child = spawn('npm', ['test', '--silent'], { cwd: join(dirname(program), '..'), stdio: ['ignore', 2, 2] })
  const code = await ended(child)
  const measured = Math.round((performance.now() - started) / 1000)
  say('The tests', [{ command: 'npm test', 'wall s': measured, 'exit code': code }])
  return [{ target: { name: '7 npm test', unit: 's', bound: { of: 'measured', atMost: 240 } }, measured }]
}
