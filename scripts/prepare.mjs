// Run by npm at the end of `npm ci` in a checkout: builds the program, so that what comes next starts at once. An installation
// without development dependencies has nothing to build it with.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const installed = join(import.meta.dirname, '../node_modules')
if (['esbuild', 'typescript'].every((name) => existsSync(join(installed, name)))) await import('./build.mjs')
