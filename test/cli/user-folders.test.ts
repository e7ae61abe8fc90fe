import { expect, inject, test } from 'vitest'
import { userFolders } from '../../src/base/user-folders.ts'

test('no test sees the data of the user who runs it', () => {
  for (const folder of [userFolders.data, userFolders.config, userFolders.cache])
    expect(folder.startsWith(inject('runFolder'))).toBe(true)
})
