module mlops.eks/tools/registry

go 1.26.0

tool mlops.eks/tools/registry

require github.com/google/go-containerregistry v0.22.1
