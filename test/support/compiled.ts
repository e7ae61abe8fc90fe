import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Compiles some of the sources, with what they import, into `folder`, for tests whose children are real processes:
 * Node 20 runs no TypeScript.
 *
 * @param files relative to `src`
 */
export async function compileInto(folder: string, files: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rootDir: join(root, 'src'),
      outDir: folder,
      declaration: false,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: files.map((file) => join(root, 'src', file)),
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project))
  await promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder])
}
