// Makes each change of the table in CONTRIBUTING.md in a copy of the last commit: applies its patch, generates what follows, checks style
// and types, and runs the tests that see it. Prints which files it took. Run by `npm run test:changes`, for all or for those that are named.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { readChanges } from './patches.mjs'

const root = join(import.meta.dirname, '../..')
const asked = process.argv.slice(2)
const changes = readChanges().filter(({ name }) => asked.length === 0 || asked.includes(name))
const unknown = asked.filter((name) => !changes.some((one) => one.name === name))
if (unknown.length > 0) throw new Error(`no such change: ${unknown.join(', ')}`)

const folder = mkdtempSync(join(tmpdir(), 'wynnsync-changes-'))
const copy = join(folder, 'copy')
const run = (name, args, cwd = copy) => spawnSync(name, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 28 })
const git = (...args) => run('git', args)

/** What went wrong with a change; undefined: nothing did. */
function failureOf({ path, tests }) {
  const steps = [
    ['git', 'apply', path],
    ['npm', 'run', 'generate', '--silent'],
    ['npx', 'biome', 'check', '--error-on-warnings', 'src'],
    ['npx', 'tsc', '-p', 'test/tsconfig.json'],
    ['npx', 'vitest', 'run', '--config', 'test/vitest.config.ts', ...tests],
  ]
  for (const [name, ...args] of steps) {
    const { status, stdout, stderr } = run(name, args)
    if (status !== 0) return `${name} ${args.join(' ')}\n${stdout.slice(-3000)}${stderr.slice(-3000)}`
  }
  return undefined
}

try {
  if (run('git', ['clone', '--quiet', root, copy], root).status !== 0)
    throw new Error('the repository cannot be copied')
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const change of changes) {
    const before = Date.now()
    const failure = failureOf(change)
    const written = git('status', '--porcelain', '--untracked-files=all').stdout.split('\n').filter(Boolean)
    const generated = written.length - change.touched.length
    const seconds = Math.round((Date.now() - before) / 1000)
    const files = change.files.map(([file]) => file).join(' ')
    process.stdout.write(
      `${failure ? 'FAILED' : 'ok'} ${change.title}: ${files}; ${generated} generated, ${seconds} s\n`,
    )
    if (failure) {
      process.stderr.write(`${failure}\n`)
      process.exitCode = 1
    }
    git('reset', '--hard', '--quiet')
    git('clean', '-fdq', '--exclude=node_modules')
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
