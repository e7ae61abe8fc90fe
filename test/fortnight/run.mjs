// Plays a fortnight of a user against the sandbox, on both databases side by side: `npm run test:fortnight`. It ends with 1 and a list when
// something was not as the docs say, or a row is not true. WYNNSYNC_FORTNIGHT_DAYS (14), WYNNSYNC_FORTNIGHT_SPEED (336 seconds of the game in a
// second: the fortnight in an hour), WYNNSYNC_FORTNIGHT_SEED and WYNNSYNC_FORTNIGHT_FROM (a commit that plays the first half) change how.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')
const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-needed'], { stdio: 'inherit' })
if (built.status !== 0) process.exit(1)
// Below the libraries, so that it finds those.
const outfile = join(root, 'node_modules/.cache/wynnsync-fortnight/play.mjs')
await build({
  entryPoints: [join(import.meta.dirname, 'play.ts')],
  outfile,
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
})
const { play } = await import(pathToFileURL(outfile).href)
process.exit((await play(root)) ? 0 : 1)
