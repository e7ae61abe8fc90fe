// Makes the documentation into a site, run by `npm run site`: the pages of the repository with search by VitePress, which stands
// in site/ with its own lock file so that who installs wynnsync does not install it, and beside them, in demo/, the pages that
// `wynnsync demo` and `wynnsync serve --export` make. The folder site/dist is for any web server; SITE_BASE is the path it has there.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'site/dist')
const run = (cwd, name, ...args) => execFileSync(name, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })

run(root, 'npm', 'ci', '--prefix', 'site', '--ignore-scripts', '--no-audit', '--no-fund')
run(root, 'npm', 'run', 'build', '--prefix', 'site')

const folder = mkdtempSync(join(tmpdir(), 'wynnsync-site-'))
try {
  const wynnsync = (...args) =>
    run(folder, process.execPath, join(root, 'dist/main.js'), ...args, '--data-dir', 'database')
  wynnsync('demo')
  wynnsync('serve', '--export', join(dist, 'demo'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
