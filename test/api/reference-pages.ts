import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const pageOf = (name: string) => readFileSync(join(import.meta.dirname, '../../docs/reference', name), 'utf8')

/** A row of the table of operations. */
export interface OperationRow {
  readonly operation: string
  readonly methods: readonly string[]
  readonly sandbox: string
  /** Such as `sync items` or `auth me`. */
  readonly usedBy: readonly string[]
}

const codes = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The table in docs/reference/operations.md. */
export const operationRows: readonly OperationRow[] = pageOf('operations.md')
  .split('\n')
  .flatMap((line) => {
    const [, operation, methods, sandbox = '', usedBy] = line.split('|').map((cell) => cell.trim())
    const [name] = codes(operation)
    return name === undefined ? [] : [{ operation: name, methods: codes(methods), sandbox, usedBy: codes(usedBy) }]
  })

/** The program of ten lines in docs/reference/api-client.md. */
export const program: string = pageOf('api-client.md').split('```js\n')[1]?.split('```')[0] ?? ''
