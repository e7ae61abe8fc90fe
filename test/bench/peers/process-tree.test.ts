import { expect, test } from 'vitest'
import { childTime, measureTree } from './process-tree.ts'

test('processor time is that of the children', () => {
  expect(childTime('0m0.010s 0m0.000s\n1m2.500s 0m0.250s\n')).toBe(62_750)
})

test('a command is measured with the processes it starts, and with its memory', async () => {
  const busy = `const until = performance.now() + 300; while (performance.now() < until); Buffer.alloc(60e6, 1)`
  const outer = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`
  const alone = await measureTree([process.execPath, '-e', ''], {})
  const both = await measureTree([process.execPath, '-e', outer], {})
  expect(both.cpuMs).toBeGreaterThan(alone.cpuMs + 50)
  expect(both.wallMs).toBeGreaterThan(300)
  if (process.platform === 'linux') expect(both.peakMb).toBeGreaterThan(60)
})

test('a command that fails says what it wrote', async () => {
  await expect(measureTree(['sh', '-c', 'echo broken >&2; exit 3'], {})).rejects.toThrow(/ended with 3: broken/)
})
