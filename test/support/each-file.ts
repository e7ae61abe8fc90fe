import { afterAll, inject } from 'vitest'
import { finishFile } from './afterwards.ts'
import { countReached, keepReached } from './reached.ts'

// What runs inside the tests' process would open the database of the user who runs the tests: the folders of a user are
// looked up once, when they are first imported. npm and browsers still find theirs.
const own = { ...process.env }
for (const name of ['XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME']) delete process.env[name]
Object.assign(process.env, {
  HOME: inject('runFolder'),
  LOCALAPPDATA: inject('runFolder'),
  APPDATA: inject('runFolder'),
})
await import('../../src/base/user-folders.ts')
process.env = own

// Modules are shared by the files that one worker runs, so this cannot stand in any of them.
countReached()
afterAll(keepReached)
afterAll(finishFile)
