# Copyright (c) 2026 mlops.eks contributors
# SPDX-License-Identifier: BSD-2-Clause

"""EC2 instance types; written by tools/instance_types.py.

This is a Python file because Ansible copies only Python files of `module_utils` to another machine. Of each type:
vCPUs/MiB of memory, gpu=NUMBERxMiB of memory each, neuron=DEVICESxCORES of each, efa=interfaces, disk=NUMBERxGB each.
"""

from __future__ import annotations

from datetime import date

OF = date(2026, 11, 22)
SOURCE = "moto 5.2.5, ec2/resources/instance_types.json.gz"
TYPES = """\
c5: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 9xlarge 36/73728, 12xlarge 48/98304, 18xlarge
  72/147456, 24xlarge 96/196608
c5a: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608
c5ad: large 2/4096 disk=1x75, xlarge 4/8192 disk=1x150, 2xlarge 8/16384 disk=1x300, 4xlarge 16/32768 disk=2x300,
  8xlarge 32/65536 disk=2x600, 12xlarge 48/98304 disk=2x900, 16xlarge 64/131072 disk=2x1200, 24xlarge 96/196608
  disk=2x1900
c5d: large 2/4096 disk=1x50, xlarge 4/8192 disk=1x100, 2xlarge 8/16384 disk=1x200, 4xlarge 16/32768 disk=1x400,
  9xlarge 36/73728 disk=1x900, 12xlarge 48/98304 disk=2x900, 18xlarge 72/147456 disk=2x900, 24xlarge 96/196608
  disk=4x900
c5n: large 2/5376, xlarge 4/10752, 2xlarge 8/21504, 4xlarge 16/43008, 9xlarge 36/98304 efa=1, 18xlarge 72/196608 efa=1
c6a: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144, 48xlarge 192/393216 efa=1
c6g: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072
c6gd: medium 1/2048 disk=1x59, large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge
  16/32768 disk=1x950, 8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=2x1425, 16xlarge 64/131072 disk=2x1900
c6gn: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072 efa=1
c6i: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144 efa=1
c6id: large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge 16/32768 disk=1x950,
  8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=2x1425, 16xlarge 64/131072 disk=2x1900, 24xlarge 96/196608
  disk=4x1425, 32xlarge 128/262144 efa=1 disk=4x1900
c6in: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144 efa=2
c7a: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072, 24xlarge 96/196608, 32xlarge 128/262144, 48xlarge 192/393216 efa=1
c7g: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072 efa=1
c7gd: medium 1/2048 disk=1x59, large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge
  16/32768 disk=1x950, 8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=2x1425, 16xlarge 64/131072 efa=1
  disk=2x1900
c7gn: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072 efa=1
c7i: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 48xlarge 192/393216 efa=1
c7i-flex: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304,
  16xlarge 64/131072
c8a: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072, 24xlarge 96/196608, 48xlarge 192/393216 efa=1
c8g: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072, 24xlarge 96/196608 efa=1, 48xlarge 192/393216 efa=1
c8gb: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072 efa=1, 24xlarge 96/196608 efa=1, 48xlarge 192/393216 efa=2
c8gd: medium 1/2048 disk=1x59, large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge
  16/32768 disk=1x950, 8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=3x950, 16xlarge 64/131072 disk=2x1900,
  24xlarge 96/196608 efa=1 disk=3x1900, 48xlarge 192/393216 efa=1 disk=6x1900
c8gn: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072 efa=1, 24xlarge 96/196608 efa=1, 48xlarge 192/393216 efa=2
c8i: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144, 48xlarge 192/393216 efa=1, 96xlarge 384/786432 efa=1
c8i-flex: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304,
  16xlarge 64/131072
c8ib: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144, 48xlarge 192/393216 efa=1, 96xlarge 384/786432 efa=2
c8id: large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge 16/32768 disk=1x950,
  8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=1x2850, 16xlarge 64/131072 disk=1x3800, 24xlarge 96/196608
  disk=2x2850, 32xlarge 128/262144 disk=2x3800, 48xlarge 192/393216 efa=1 disk=3x3800, 96xlarge 384/786432 efa=1
  disk=6x3800
c8in: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304, 16xlarge
  64/131072, 24xlarge 96/196608, 32xlarge 128/262144, 48xlarge 192/393216 efa=1, 96xlarge 384/786432 efa=2
c8ine: large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge 48/98304
c9g: medium 1/2048, large 2/4096, xlarge 4/8192, 2xlarge 8/16384, 4xlarge 16/32768, 8xlarge 32/65536, 12xlarge
  48/98304, 16xlarge 64/131072, 24xlarge 96/196608, 48xlarge 192/393216 efa=1
c9gd: medium 1/2048 disk=1x59, large 2/4096 disk=1x118, xlarge 4/8192 disk=1x237, 2xlarge 8/16384 disk=1x474, 4xlarge
  16/32768 disk=1x950, 8xlarge 32/65536 disk=1x1900, 12xlarge 48/98304 disk=3x950, 16xlarge 64/131072 disk=1x3800,
  24xlarge 96/196608 disk=3x1900, 48xlarge 192/393216 efa=1 disk=3x3800
dl2q: 24xlarge 96/786432 efa=1
f2: 48xlarge 192/2097152 efa=1 disk=8x940
g4dn: xlarge 4/16384 gpu=1x16384 disk=1x125, 2xlarge 8/32768 gpu=1x16384 disk=1x225, 4xlarge 16/65536 gpu=1x16384
  disk=1x225, 8xlarge 32/131072 gpu=1x16384 efa=1 disk=1x900, 12xlarge 48/196608 gpu=4x16384 efa=1 disk=1x900,
  16xlarge 64/262144 gpu=1x16384 efa=1 disk=1x900
g5: xlarge 4/16384 gpu=1x22888 disk=1x250, 2xlarge 8/32768 gpu=1x22888 disk=1x450, 4xlarge 16/65536 gpu=1x22888
  disk=1x600, 8xlarge 32/131072 gpu=1x22888 efa=1 disk=1x900, 12xlarge 48/196608 gpu=4x22888 efa=1 disk=1x3800,
  16xlarge 64/262144 gpu=1x22888 efa=1 disk=1x1900, 24xlarge 96/393216 gpu=4x22888 efa=1 disk=1x3800, 48xlarge
  192/786432 gpu=8x22888 efa=1 disk=2x3800
g5g: xlarge 4/8192 gpu=1x16384, 2xlarge 8/16384 gpu=1x16384, 4xlarge 16/32768 gpu=1x16384, 8xlarge 32/65536
  gpu=1x16384, 16xlarge 64/131072 gpu=2x16384
g6: xlarge 4/16384 gpu=1x22888 disk=1x250, 2xlarge 8/32768 gpu=1x22888 disk=1x450, 4xlarge 16/65536 gpu=1x22888
  disk=1x600, 8xlarge 32/131072 gpu=1x22888 efa=1 disk=2x450, 12xlarge 48/196608 gpu=4x22888 efa=1 disk=4x940,
  16xlarge 64/262144 gpu=1x22888 efa=1 disk=2x940, 24xlarge 96/393216 gpu=4x22888 efa=1 disk=4x940, 48xlarge
  192/786432 gpu=8x22888 efa=1 disk=8x940
g6e: xlarge 4/32768 gpu=1x45776 disk=1x250, 2xlarge 8/65536 gpu=1x45776 disk=1x450, 4xlarge 16/131072 gpu=1x45776
  disk=1x600, 8xlarge 32/262144 gpu=1x45776 efa=1 disk=2x450, 12xlarge 48/393216 gpu=4x45776 efa=1 disk=2x1900,
  16xlarge 64/524288 gpu=1x45776 efa=1 disk=2x950, 24xlarge 96/786432 gpu=4x45776 efa=2 disk=2x1900, 48xlarge
  192/1572864 gpu=8x45776 efa=4 disk=4x1900
g6f: large 2/8192 gpu=1x2861 disk=1x100, xlarge 4/16384 gpu=1x2861 disk=1x100, 2xlarge 8/32768 gpu=1x5722 disk=1x200,
  4xlarge 16/65536 gpu=1x11444 disk=1x450
g7: 2xlarge 8/32768 gpu=1x32768 disk=1x440, 4xlarge 16/65536 gpu=1x32768 disk=1x875, 8xlarge 32/131072 gpu=1x32768
  efa=1 disk=1x930, 12xlarge 48/196608 gpu=2x32768 efa=1 disk=1x1900, 24xlarge 96/393216 gpu=4x32768 efa=1
  disk=1x3800, 48xlarge 192/786432 gpu=8x32768 efa=2 disk=2x3800
g7e: 2xlarge 8/65536 gpu=1x98304 disk=1x1900, 4xlarge 16/131072 gpu=1x98304 disk=1x1900, 8xlarge 32/262144 gpu=1x98304
  efa=1 disk=1x1900, 12xlarge 48/524288 gpu=2x98304 efa=1 disk=1x3800, 24xlarge 96/1048576 gpu=4x98304 efa=2
  disk=2x3800, 48xlarge 192/2097152 gpu=8x98304 efa=4 disk=4x3800
gr6: 4xlarge 16/131072 gpu=1x22888 disk=1x600, 8xlarge 32/262144 gpu=1x22888 efa=1 disk=2x450
gr6f: 4xlarge 16/131072 gpu=1x11444 disk=1x450
hpc6a: 48xlarge 96/393216 efa=1
hpc6id: 32xlarge 64/1048576 efa=2 disk=4x3800
hpc7a: 12xlarge 24/786432 efa=2, 24xlarge 48/786432 efa=2, 48xlarge 96/786432 efa=2, 96xlarge 192/786432 efa=2
hpc7g: 4xlarge 16/131072 efa=1, 8xlarge 32/131072 efa=1, 16xlarge 64/131072 efa=1
hpc8a: 96xlarge 192/786432 efa=2
i3en: large 2/16384 disk=1x1250, xlarge 4/32768 disk=1x2500, 2xlarge 8/65536 disk=2x2500, 3xlarge 12/98304
  disk=1x7500, 6xlarge 24/196608 disk=2x7500, 12xlarge 48/393216 efa=1 disk=4x7500, 24xlarge 96/786432 efa=1
  disk=8x7500
i4g: 16xlarge 64/524288 efa=1 disk=4x3750
i4i: large 2/16384 disk=1x468, xlarge 4/32768 disk=1x937, 2xlarge 8/65536 disk=1x1875, 4xlarge 16/131072 disk=1x3750,
  8xlarge 32/262144 disk=2x3750, 12xlarge 48/393216 disk=3x3750, 16xlarge 64/524288 disk=4x3750, 24xlarge 96/786432
  disk=6x3750, 32xlarge 128/1048576 efa=1 disk=8x3750
i7i: large 2/16384 disk=1x468, xlarge 4/32768 disk=1x937, 2xlarge 8/65536 disk=1x1875, 4xlarge 16/131072 disk=1x3750,
  8xlarge 32/262144 disk=2x3750, 12xlarge 48/393216 disk=3x3750, 16xlarge 64/524288 disk=4x3750, 24xlarge 96/786432
  efa=1 disk=6x3750, 48xlarge 192/1572864 efa=1 disk=12x3750
i7ie: large 2/16384 disk=1x1250, xlarge 4/32768 disk=1x2500, 2xlarge 8/65536 disk=2x2500, 3xlarge 12/98304
  disk=1x7500, 6xlarge 24/196608 disk=2x7500, 12xlarge 48/393216 disk=4x7500, 18xlarge 72/589824 disk=6x7500, 24xlarge
  96/786432 disk=8x7500, 48xlarge 192/1572864 efa=1 disk=16x7500
i8g: large 2/16384 disk=1x468, xlarge 4/32768 disk=1x937, 2xlarge 8/65536 disk=1x1875, 4xlarge 16/131072 disk=1x3750,
  8xlarge 32/262144 disk=2x3750, 12xlarge 48/393216 disk=3x3750, 16xlarge 64/524288 disk=4x3750, 24xlarge 96/786432
  disk=6x3750, 48xlarge 192/1572864 efa=1 disk=12x3750
i8ge: large 2/16384 disk=1x1250, xlarge 4/32768 disk=1x2500, 2xlarge 8/65536 disk=2x2500, 3xlarge 12/98304
  disk=1x7500, 6xlarge 24/196608 disk=2x7500, 12xlarge 48/393216 disk=4x7500, 18xlarge 72/589824 disk=6x7500, 24xlarge
  96/786432 disk=8x7500, 48xlarge 192/1572864 efa=1 disk=16x7500
im4gn: 16xlarge 64/262144 efa=1 disk=4x7500
inf1: xlarge 4/8192 neuron=1x4, 2xlarge 8/16384 neuron=1x4, 6xlarge 24/49152 neuron=4x4, 24xlarge 96/196608
  neuron=16x4 efa=1
inf2: xlarge 4/16384 neuron=1x2, 8xlarge 32/131072 neuron=1x2, 24xlarge 96/393216 neuron=6x2, 48xlarge 192/786432
  neuron=12x2
m5: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216
m5a: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216
m5ad: large 2/8192 disk=1x75, xlarge 4/16384 disk=1x150, 2xlarge 8/32768 disk=1x300, 4xlarge 16/65536 disk=2x300,
  8xlarge 32/131072 disk=2x600, 12xlarge 48/196608 disk=2x900, 16xlarge 64/262144 disk=4x600, 24xlarge 96/393216
  disk=4x900
m5d: large 2/8192 disk=1x75, xlarge 4/16384 disk=1x150, 2xlarge 8/32768 disk=1x300, 4xlarge 16/65536 disk=2x300,
  8xlarge 32/131072 disk=2x600, 12xlarge 48/196608 disk=2x900, 16xlarge 64/262144 disk=4x600, 24xlarge 96/393216
  disk=4x900
m5dn: large 2/8192 disk=1x75, xlarge 4/16384 disk=1x150, 2xlarge 8/32768 disk=1x300, 4xlarge 16/65536 disk=2x300,
  8xlarge 32/131072 disk=2x600, 12xlarge 48/196608 disk=2x900, 16xlarge 64/262144 disk=4x600, 24xlarge 96/393216 efa=1
  disk=4x900
m5n: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216 efa=1
m5zn: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 3xlarge 12/49152, 6xlarge 24/98304, 12xlarge 48/196608 efa=1
m6a: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288, 48xlarge 192/786432 efa=1
m6g: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144
m6gd: medium 1/4096 disk=1x59, large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge
  16/65536 disk=1x950, 8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=2x1425, 16xlarge 64/262144 disk=2x1900
m6i: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288 efa=1
m6id: large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge 16/65536 disk=1x950,
  8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=2x1425, 16xlarge 64/262144 disk=2x1900, 24xlarge 96/393216
  disk=4x1425, 32xlarge 128/524288 efa=1 disk=4x1900
m6idn: large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge 16/65536 disk=1x950,
  8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=2x1425, 16xlarge 64/262144 disk=2x1900, 24xlarge 96/393216
  disk=4x1425, 32xlarge 128/524288 efa=2 disk=4x1900
m6in: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288 efa=2
m7a: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144, 24xlarge 96/393216, 32xlarge 128/524288, 48xlarge 192/786432 efa=1
m7g: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144 efa=1
m7gd: medium 1/4096 disk=1x59, large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge
  16/65536 disk=1x950, 8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=2x1425, 16xlarge 64/262144 efa=1
  disk=2x1900
m7i: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 48xlarge 192/786432 efa=1
m7i-flex: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608,
  16xlarge 64/262144
m8a: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144, 24xlarge 96/393216, 48xlarge 192/786432 efa=1
m8azn: medium 1/4096, large 2/8192, xlarge 4/16384, 3xlarge 12/49152, 6xlarge 24/98304, 12xlarge 48/196608, 24xlarge
  96/393216 efa=1
m8g: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144, 24xlarge 96/393216 efa=1, 48xlarge 192/786432 efa=1
m8gb: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144 efa=1, 24xlarge 96/393216 efa=1, 48xlarge 192/786432 efa=2
m8gd: medium 1/4096 disk=1x59, large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge
  16/65536 disk=1x950, 8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=3x950, 16xlarge 64/262144 disk=2x1900,
  24xlarge 96/393216 efa=1 disk=3x1900, 48xlarge 192/786432 efa=1 disk=6x1900
m8gn: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144 efa=1, 24xlarge 96/393216 efa=1, 48xlarge 192/786432 efa=2
m8i: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288, 48xlarge 192/786432 efa=1, 96xlarge 384/1572864 efa=1
m8i-flex: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608,
  16xlarge 64/262144
m8ib: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288, 48xlarge 192/786432 efa=1, 96xlarge 384/1572864 efa=2
m8id: large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge 16/65536 disk=1x950,
  8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=1x2850, 16xlarge 64/262144 disk=1x3800, 24xlarge 96/393216
  disk=2x2850, 32xlarge 128/524288 disk=2x3800, 48xlarge 192/786432 efa=1 disk=3x3800, 96xlarge 384/1572864 efa=1
  disk=6x3800
m8idb: large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge 16/65536 disk=1x950,
  8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=1x2850, 16xlarge 64/262144 disk=1x3800, 24xlarge 96/393216
  disk=2x2850, 32xlarge 128/524288 disk=2x3800, 48xlarge 192/786432 efa=1 disk=3x3800, 96xlarge 384/1572864 efa=2
  disk=6x3800
m8idn: large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge 16/65536 disk=1x950,
  8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=1x2850, 16xlarge 64/262144 disk=1x3800, 24xlarge 96/393216
  disk=2x2850, 32xlarge 128/524288 disk=2x3800, 48xlarge 192/786432 efa=1 disk=3x3800, 96xlarge 384/1572864 efa=2
  disk=6x3800
m8in: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608, 16xlarge
  64/262144, 24xlarge 96/393216, 32xlarge 128/524288, 48xlarge 192/786432 efa=1, 96xlarge 384/1572864 efa=2
m8ine: large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge 48/196608
m9g: medium 1/4096, large 2/8192, xlarge 4/16384, 2xlarge 8/32768, 4xlarge 16/65536, 8xlarge 32/131072, 12xlarge
  48/196608, 16xlarge 64/262144, 24xlarge 96/393216, 48xlarge 192/786432 efa=1
m9gd: medium 1/4096 disk=1x59, large 2/8192 disk=1x118, xlarge 4/16384 disk=1x237, 2xlarge 8/32768 disk=1x474, 4xlarge
  16/65536 disk=1x950, 8xlarge 32/131072 disk=1x1900, 12xlarge 48/196608 disk=3x950, 16xlarge 64/262144 disk=1x3800,
  24xlarge 96/393216 disk=3x1900, 48xlarge 192/786432 efa=1 disk=3x3800
p3dn: 24xlarge 96/786432 gpu=8x32768 efa=1 disk=2x900
p4d: 24xlarge 96/1179648 gpu=8x40960 efa=4 disk=8x1000
p4de: 24xlarge 96/1179648 gpu=8x81920 efa=4 disk=8x1000
p5: 4xlarge 16/262144 gpu=1x81920 efa=1 disk=1x3800, 48xlarge 192/2097152 gpu=8x81920 efa=32 disk=8x3800
p5e: 48xlarge 192/2097152 gpu=8x144384 efa=32 disk=8x3800
p5en: 48xlarge 192/2097152 gpu=8x144384 efa=16 disk=8x3800
p6-b200: 48xlarge 192/2097152 gpu=8x183359 efa=8 disk=8x3800
p6-b300: 48xlarge 192/4194304 gpu=8x275040 efa=16 disk=8x3800
r5: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216, 16xlarge
  64/524288, 24xlarge 96/786432
r5a: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432
r5ad: large 2/16384 disk=1x75, xlarge 4/32768 disk=1x150, 2xlarge 8/65536 disk=1x300, 4xlarge 16/131072 disk=2x300,
  8xlarge 32/262144 disk=2x600, 12xlarge 48/393216 disk=2x900, 16xlarge 64/524288 disk=4x600, 24xlarge 96/786432
  disk=4x900
r5b: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432
r5d: large 2/16384 disk=1x75, xlarge 4/32768 disk=1x150, 2xlarge 8/65536 disk=1x300, 4xlarge 16/131072 disk=2x300,
  8xlarge 32/262144 disk=2x600, 12xlarge 48/393216 disk=2x900, 16xlarge 64/524288 disk=4x600, 24xlarge 96/786432
  disk=4x900
r5dn: large 2/16384 disk=1x75, xlarge 4/32768 disk=1x150, 2xlarge 8/65536 disk=1x300, 4xlarge 16/131072 disk=2x300,
  8xlarge 32/262144 disk=2x600, 12xlarge 48/393216 disk=2x900, 16xlarge 64/524288 disk=4x600, 24xlarge 96/786432 efa=1
  disk=4x900
r5n: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432 efa=1
r6a: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576, 48xlarge 192/1572864 efa=1
r6g: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288
r6gd: medium 1/8192 disk=1x59, large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474,
  4xlarge 16/131072 disk=1x950, 8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=2x1425, 16xlarge 64/524288
  disk=2x1900
r6i: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576 efa=1
r6id: large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474, 4xlarge 16/131072 disk=1x950,
  8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=2x1425, 16xlarge 64/524288 disk=2x1900, 24xlarge 96/786432
  disk=4x1425, 32xlarge 128/1048576 efa=1 disk=4x1900
r6idn: large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474, 4xlarge 16/131072 disk=1x950,
  8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=2x1425, 16xlarge 64/524288 disk=2x1900, 24xlarge 96/786432
  disk=4x1425, 32xlarge 128/1048576 efa=2 disk=4x1900
r6in: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576 efa=2
r7a: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576, 48xlarge 192/1572864 efa=1
r7g: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288 efa=1
r7gd: medium 1/8192 disk=1x59, large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474,
  4xlarge 16/131072 disk=1x950, 8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=2x1425, 16xlarge 64/524288
  efa=1 disk=2x1900
r7i: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 48xlarge 192/1572864 efa=1
r7iz: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 32xlarge 128/1048576 efa=1
r8a: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288, 24xlarge 96/786432, 48xlarge 192/1572864 efa=1
r8g: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288, 24xlarge 96/786432 efa=1, 48xlarge 192/1572864 efa=1
r8gb: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288 efa=1, 24xlarge 96/786432 efa=1, 48xlarge 192/1572864 efa=2
r8gd: medium 1/8192 disk=1x59, large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474,
  4xlarge 16/131072 disk=1x950, 8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=3x950, 16xlarge 64/524288
  disk=2x1900, 24xlarge 96/786432 efa=1 disk=3x1900, 48xlarge 192/1572864 efa=1 disk=6x1900
r8gn: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288 efa=1, 24xlarge 96/786432 efa=1, 48xlarge 192/1572864 efa=2
r8i: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576, 48xlarge 192/1572864 efa=1, 96xlarge 384/3145728 efa=1
r8i-flex: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288
r8ib: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576, 48xlarge 192/1572864 efa=1, 96xlarge 384/3145728 efa=2
r8id: large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474, 4xlarge 16/131072 disk=1x950,
  8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=1x2850, 16xlarge 64/524288 disk=1x3800, 24xlarge 96/786432
  disk=2x2850, 32xlarge 128/1048576 disk=2x3800, 48xlarge 192/1572864 efa=1 disk=3x3800, 96xlarge 384/3145728 efa=1
  disk=6x3800
r8idb: large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474, 4xlarge 16/131072 disk=1x950,
  8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=1x2850, 16xlarge 64/524288 disk=1x3800, 24xlarge 96/786432
  disk=2x2850, 32xlarge 128/1048576 disk=2x3800, 48xlarge 192/1572864 efa=1 disk=3x3800, 96xlarge 384/3145728 efa=2
  disk=6x3800
r8idn: large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474, 4xlarge 16/131072 disk=1x950,
  8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=1x2850, 16xlarge 64/524288 disk=1x3800, 24xlarge 96/786432
  disk=2x2850, 32xlarge 128/1048576 disk=2x3800, 48xlarge 192/1572864 efa=1 disk=3x3800, 96xlarge 384/3145728 efa=2
  disk=6x3800
r8in: large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge 48/393216,
  16xlarge 64/524288, 24xlarge 96/786432, 32xlarge 128/1048576, 48xlarge 192/1572864 efa=1, 96xlarge 384/3145728 efa=2
r9g: medium 1/8192, large 2/16384, xlarge 4/32768, 2xlarge 8/65536, 4xlarge 16/131072, 8xlarge 32/262144, 12xlarge
  48/393216, 16xlarge 64/524288, 24xlarge 96/786432, 48xlarge 192/1572864 efa=1
r9gd: medium 1/8192 disk=1x59, large 2/16384 disk=1x118, xlarge 4/32768 disk=1x237, 2xlarge 8/65536 disk=1x474,
  4xlarge 16/131072 disk=1x950, 8xlarge 32/262144 disk=1x1900, 12xlarge 48/393216 disk=3x950, 16xlarge 64/524288
  disk=1x3800, 24xlarge 96/786432 disk=3x1900, 48xlarge 192/1572864 efa=1 disk=3x3800
t3: large 2/8192, medium 2/4096, micro 2/1024, nano 2/512, small 2/2048, xlarge 4/16384, 2xlarge 8/32768
t3a: large 2/8192, medium 2/4096, micro 2/1024, nano 2/512, small 2/2048, xlarge 4/16384, 2xlarge 8/32768
t4g: large 2/8192, medium 2/4096, micro 2/1024, nano 2/512, small 2/2048, xlarge 4/16384, 2xlarge 8/32768
trn1: 2xlarge 8/32768 neuron=1x2 disk=1x474, 32xlarge 128/524288 neuron=16x2 efa=8 disk=4x1900
trn1n: 32xlarge 128/524288 neuron=16x2 efa=16 disk=4x1900
trn2: 3xlarge 12/131072 neuron=1x8 efa=1 disk=1x470, 48xlarge 192/2097152 neuron=16x8 efa=16 disk=4x1900
trn2u: 48xlarge 192/2097152 efa=16 disk=4x1900
u7i-12tb: 224xlarge 896/12582912 efa=1
u7i-6tb: 112xlarge 448/6291456 efa=1
u7i-8tb: 112xlarge 448/8388608 efa=1
u7in-16tb: 224xlarge 896/16777216 efa=2
u7in-24tb: 224xlarge 896/25165824 efa=2
u7in-32tb: 224xlarge 896/33554432 efa=2
vt1: 24xlarge 96/196608 efa=1
x2idn: 16xlarge 64/1048576 disk=1x1900, 24xlarge 96/1572864 disk=2x1425, 32xlarge 128/2097152 efa=1 disk=2x1900
x2iedn: xlarge 4/131072 disk=1x118, 2xlarge 8/262144 disk=1x237, 4xlarge 16/524288 disk=1x475, 8xlarge 32/1048576
  disk=1x950, 16xlarge 64/2097152 disk=1x1900, 24xlarge 96/3145728 disk=2x1425, 32xlarge 128/4194304 efa=1 disk=2x1900
x2iezn: 2xlarge 8/262144, 4xlarge 16/524288, 6xlarge 24/786432, 8xlarge 32/1048576, 12xlarge 48/1572864 efa=1
x8aedz: 24xlarge 96/3145728 efa=1 disk=2x3800
x8g: 24xlarge 96/1572864 efa=1, 48xlarge 192/3145728 efa=1
x8i: 48xlarge 192/3145728 efa=1, 64xlarge 256/4194304 efa=1, 96xlarge 384/6291456 efa=1
"""
