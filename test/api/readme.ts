import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const text = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
const section = text.split(/^### The whole interface$/m)[1]?.split(/^##/m)[0] ?? ''

/** A row of the README's table of operations. */
export interface OperationRow {
  readonly operation: string
  readonly methods: readonly string[]
  readonly sandbox: string
  /** Such as `sync items` or `auth me`. */
  readonly usedBy: readonly string[]
}

const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The README's table of operations. */
export const operationRows: readonly OperationRow[] = section.split('\n').flatMap((line) => {
  const [, operation, methods, sandbox = '', usedBy] = line.split('|').map((cell) => cell.trim())
  const [name] = codes(operation)
  return name === undefined ? [] : [{ operation: name, methods: codes(methods), sandbox, usedBy: codes(usedBy) }]
})

/** The README's program of ten lines. */
export const program: string = section.split('```js\n')[1]?.split('```')[0] ?? ''
