import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/**
 * Compresses what the API sent. Measured on recorded answers: brotli at 5 takes the time of gzip at 6 (0.8 ms for the 83 kB
 * of all territories, 43 ms for the 5.4 MB of all items) and 5 % less room, of items 28 % less; at 9 it takes ten times as
 * long for 1 to 15 % more.
 */
export async function compressed(text: Uint8Array): Promise<Buffer> {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_SIZE_HINT: hint } = constants
  return await compress(text, { params: { [quality]: 5, [hint]: text.length } })
}

/** What `compressed` was given. */
export async function decompressed(body: Uint8Array): Promise<Buffer> {
  return await decompress(body)
}
