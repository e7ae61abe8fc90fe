import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts'
import { buildProgram } from '../support/cli.ts'
import { program } from './readme.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
/** Nothing of the tester's own configuration but where his packages come from. */
const npm = (args: readonly string[], cwd: string) => run('npm', args, { cwd, maxBuffer: 1 << 24 })

let folder: string
let sandbox: Sandbox

beforeAll(async () => {
  await buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'wynnsync-packed-'))
  const { stdout } = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root)
  const [packed]: { readonly filename: string }[] = JSON.parse(stdout)
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await npm(['install', ...quiet, `./${packed?.filename}`], folder)
  sandbox = await startSandbox({ clock: systemClock })
})

afterAll(async () => {
  await sandbox?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

describe('the package, installed in an empty folder,', () => {
  test("runs the README's program of ten lines against a sandbox", async () => {
    expect(program.trim().split('\n')).toHaveLength(10)
    await writeFile(join(folder, 'program.js'), program)
    const { stdout, stderr } = await run(process.execPath, ['program.js', sandbox.url], { cwd: folder })
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^owner \S+/m)
    expect(stdout).toMatch(/^bow \S+/m)
    expect(stdout).toMatch(/username: '\w+'/)
    expect(stdout).not.toContain('undefined')
  })

  test('has types', async () => {
    await writeFile(
      join(folder, 'typed.ts'),
      `import { createClient, type GuildProfile, type Item, NotFound } from 'wynnsync/api'
const api = createClient({ baseUrl: '${sandbox.url}' })
const guild: GuildProfile = (await api.guilds.byName('Owls')).read()
export const ranks: string[] = guild.members.map(({ rank, username, contributed }) => rank + username + (contributed ?? 0))
export const prefix: string | null | undefined = guild.prefix
export const weapons: Item[] = (await api.items.search({ type: ['bow'], tier: 'mythic' })).read()
for await (const item of api.items.each()) item.internalName.toUpperCase()
const answer = await api.guilds.territories()
export const left: number | null | undefined = answer.rateLimit?.remaining
export const missing = (error: unknown): error is NotFound => error instanceof NotFound
// @ts-expect-error a level is no text
await api.items.search({ levelRange: 'ten' })
// @ts-expect-error there is no such field
guild.members[0].rank.nothing
`,
    )
    const compilerOptions = {
      ...{ target: 'es2023', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: false },
      ...{ lib: ['es2023', 'dom'], types: [] },
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(process.execPath, [compiler, '-p', folder]).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })
})
