// Changes the parts that parts.json names in many small ways, one at a time, and counts which changes their tests see. What survives is
// a missing test or code that does nothing. Run by `npm run test:mutation`, for all parts or for those that are named. The tool has
// its own lock file, so that who installs the program for development does not install it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const root = join(import.meta.dirname, '../..')
const parts = Object.keys(JSON.parse(readFileSync(join(import.meta.dirname, 'parts.json'), 'utf8')))
const asked = process.argv.slice(2)
const unknown = asked.filter((part) => !parts.includes(part))
if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')}; there are ${parts.join(', ')}`)

const run = (name, args, env = {}) =>
  spawnSync(name, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1

// Below the libraries of the program, so that it finds those, and no test takes its files for ours.
const folder = join(root, 'node_modules/.cache/wynnsync-mutation')
mkdirSync(folder, { recursive: true })
for (const name of ['package.json', 'package-lock.json'])
  copyFileSync(join(import.meta.dirname, name), join(folder, name))
const install = ['ci', '--prefix', folder, '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
if (run('npm', install) !== 0) process.exit(1)
const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js')
const failed = (asked.length > 0 ? asked : parts).filter(
  (part) =>
    run(process.execPath, [stryker, 'run', 'test/mutation/stryker.config.mjs'], { WYNNSYNC_TEST_MUTATED: part }) !== 0,
)
if (failed.length > 0) process.stderr.write(`too few changes were seen in ${failed.join(', ')}\n`)
process.exit(failed.length > 0 ? 1 : 0)
