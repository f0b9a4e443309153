module mlops.eks/tools/mpi-operator

go 1.26.8
