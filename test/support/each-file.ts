import { afterAll } from 'vitest'
import { finishFile } from './afterwards.ts'

// Modules are shared by the files that one worker runs, so this cannot stand in any of them.
afterAll(finishFile)
