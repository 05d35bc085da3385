import { fileURLToPath } from 'node:url'

// The folder of `node_modules`, which is not that of the application here.
const root = fileURLToPath(new URL('..', import.meta.url))

export default { serverExternalPackages: ['jeton'], turbopack: { root } }
