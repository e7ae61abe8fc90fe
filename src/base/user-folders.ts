// First: it gives the library below a home.
import './home-folder.ts'
import envPaths from 'env-paths'

/** The folders for configuration, data and cache that the platform gives a user. */
export const userFolders = envPaths('wynnsync', { suffix: '' })
