/** The largest body that is read, before and after decompression, in bytes: no answer of the API comes near it. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024
