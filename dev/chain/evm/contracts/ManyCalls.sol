// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Several calls in one, at the address where every public chain has its Multicall3. Only the form that payment
/// libraries use for reading is here: each call may fail without failing the others.
contract ManyCalls {
    struct Call {
        address target;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 index = 0; index < calls.length; index++) {
            (bool success, bytes memory returnData) = calls[index].target.call(calls[index].callData);
            require(success || !requireSuccess, "Multicall3: call failed");
            results[index] = Result(success, returnData);
        }
    }
}
